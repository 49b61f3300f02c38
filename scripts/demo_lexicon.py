"""The words of the demo corpus and how they are inflected; the grammar is in make_demo_corpus.py.

Common words come first in each list, since the generator prefers the front. Many words stand in several
lists on purpose (watch, plan, light, cut, back ...): telling their uses apart is what a tagger must learn.

A verb is written `base`, `base:past` or `base:past:participle`, a noun `singular` or `singular:plural`;
a `+` after the base doubles its last letter (`plan+`: planned, planning).
"""

NOUNS = {
    "person": """cook guide guard child:children judge friend nurse host woman:women coach baker man:men
        patient pilot teacher doctor neighbour captain student farmer painter boss guest driver clerk
        scout porter sailor tailor hunter lawyer singer cousin waiter stranger witness tramp official
        criminal local""",
    "thing": """watch light box ring book letter plant record drink sign present map bill lamp cut table
        paper coat phone stone nail hammer glass brush chain bag film ship saw rose can lock bell iron
        post boat mask train leaf:leaves knife:knives clock picture door window chair basket pump stamp
        fence wire cover ladder building painting drawing blanket kettle pocket engine wheel bottle candle
        key coin shirt flag""",
    "place": """park garden market house station back field bridge camp harbour dock bank hill street shop
        river kitchen mill square cross village tower corner yard farm land coast ground island castle
        school""",
    "event": """run walk race visit dance talk play show break fight trip start swim march match rest
        meeting party game search ride climb strike fall storm round lecture wedding hearing reading
        opening landing""",
    "idea": """plan hope answer question promise doubt need claim report offer cause change cost fear
        order wish demand reply idea story rule will mind love dream reason secret right feeling warning""",
    "time": "morning week spring night evening year fall summer month afternoon winter weekend",
    "stuff": """water light paint cut cooking paper smoke work help oil iron training glass washing ice
        rain mail felt trade building wood""",
}

VERBS = {
    "handle": """watch light:lit open cut+:cut clean book close record sign present paint table map+ plant
        empty box paper phone nail hammer brush chain ship+ film lock iron post oil mail pump stamp fence
        wire cover dry warm cool round clear mask free back find:found break:broke:broken make:made
        lose:lost leave:left build:built sell:sold buy:bought carry repair drop+ draw:drew:drawn
        saw:sawed:sawn wind:wound bag+ label+ hold:held wash steal:stole:stolen hide:hid:hidden fix polish""",
    "treat": """watch guide guard judge help visit call nurse host coach follow like love train thank
        meet:met trust answer question face fight:fought find:found leave:left welcome blame warn doctor
        fear hear:heard surprise please trouble calm house""",
    "go": """run+:ran:run walk race march ride:rode:ridden head drive:drove:driven return climb travel+
        move swim+:swam:swum fall:fell:fallen land rush sail turn hurry crawl""",
    "rest": """rest work wait dance talk play sleep:slept smile laugh fight:fought stand:stood cook dream
        sit+:sat trade fish camp worry change speak:spoke:spoken sing:sang:sung shop+ cough shout""",
    "say": """hope claim say:said report think:thought doubt know:knew:known fear promise believe reply
        answer dream guess hear:heard feel:felt notice wish""",
    "discuss": """plan+ change report question offer doubt fear start stop+ mind discuss explain cause
        like love forget:forgot:forgotten describe mention""",
    "aim": """plan+ hope need want try promise offer like love start wish fail demand decide agree refuse
        learn prepare""",
    "do": "like love start stop+ keep:kept enjoy mind finish practise fear begin+:began:begun avoid",
    "sense": "see:saw:seen watch hear:heard make:made let+:let notice help",
    "seem": "look seem feel:felt sound stay smell taste",
    "part": """cut+:cut back round clean light:lit close break:broke:broken look call turn hand open pack
        write:wrote:written wind:wound bring:brought carry put+:put set+:set throw:threw:thrown pay:paid
        take:took:taken send:sent""",
    "give": """hand offer give:gave:given show:showed:shown send:sent bring:brought promise sell:sold
        buy:bought pay:paid""",
}

WORDS = {
    "JJ.JJ": """light open round old clean closed new cut back cold lit covered warm clear dry long
        present close little free right empty large calm cool dark young second quiet heavy past left
        patient local wooden fair broken kind mean slow late early painted surprised fine sharp official
        rich worried pleased broad hidden worn friendly lonely useful careful strange white brown green
        deep square secret narrow bitter plain""",
    "glad.JJ": "free right slow late ready pleased early present content surprised worried",
    "fine.JJ": "right mean fine kind hard useful fair clear slow fun light",
    "well.RB": """back well early late fast again round there hard right slowly once close quickly past
        quietly home off gladly calmly""",
    "often.RB": "still often never soon always only once already slowly quickly finally clearly",
    "RP.RP": "up back down out over off in on round",
    "near.IN": "in near by on behind round past under before outside",
    "up.IN": "up over down round past through across off",
    "NNP.NNP": """Rose Mark Bill Will May Grace Frank Hope Jack Cook Baker Anna Peter Hill Brown Young
        Grant Park Sue Pat Chase Art Rich Green Miles Guy Drew Penny Page Dean Faith Lance Olga Victor
        Clara""",
    "town.NNP": "London Reading Bath Rugby Paris Battle Cork Ware Deal Sandwich",
    "month.NNP": "May March June April August",
    "CD.CD": "two three ten five four six twenty 12 eight 40 100 7 1,500 thirty fifteen 36",
    "date.CD": "1 3 12 7 20 15 30 8",
    "MD.MD": "will can may might must would should could",
}

# Rare words are compounds and derivations, nearly all of which occur once: those of the test part are unseen.
RARE = {
    "first": """river stone moon market bell glass winter copper thunder corn shadow silver smoke feather
        garden harbour cloud barley lantern amber willow hollow saddle meadow cinder mirror timber pepper
        velvet marble water iron wood night field""",
    "person": "keeper man:men maker woman:women master hunter guard watch",
    "thing": "work light cut watch stand break ship cover fish wheel cloth brush",
    "place": "side house field gate hill mill yard",
    "JJ": "like less proof coloured ish lit side fast light cut bound work shaped",
    "NNP": "ton wick ley ford by man worth",
    "prefix": "re over out mis un under counter fore",
    "handle": """paint plan+ cook light wash judge guard book map+ trade nail load stamp label+ stack pack
        plant count charge balance draft fit+ print coat march walk pile shape measure cut+:cut""",
}


def _with_s(word: str) -> str:
    """The plural of a noun, the third person of a verb."""
    if word.endswith(("s", "x", "z", "ch", "sh", "o")):
        return word + "es"
    if word.endswith("y") and word[-2] not in "aeou":
        return word[:-1] + "ies"
    return word + "s"


def noun_forms(entry: str) -> dict[str, str]:
    singular, _, plural = entry.partition(":")
    return {"NN": singular, "NNS": plural or _with_s(singular)}


def verb_forms(entry: str) -> dict[str, str]:
    base, past, participle = (entry.split(":") + ["", ""])[:3]
    stem = base[:-1] + base[-2] if base.endswith("+") else base
    base = base.rstrip("+")
    if base.endswith("e"):
        ing, ed = base[:-1] + "ing", base + "d"
    elif base.endswith("y") and base[-2] not in "aeou":
        ing, ed = base + "ing", base[:-1] + "ied"
    else:
        ing, ed = stem + "ing", stem + "ed"
    if base.endswith("ee"):
        ing = base + "ing"
    past = past or ed
    return {"VB": base, "VBP": base, "VBZ": _with_s(base), "VBD": past, "VBN": participle or past, "VBG": ing}


def load() -> dict[str, list[str]]:
    """Every list of words under `class.TAG`, such as handle.VBD, person.NNS or JJ.JJ."""
    lexicon = {key: words.split() for key, words in WORDS.items()}
    for classes, inflect in ((NOUNS, noun_forms), (VERBS, verb_forms)):
        for name, entries in classes.items():
            for entry in entries.split():
                for tag, form in inflect(entry).items():
                    lexicon.setdefault(f"{name}.{tag}", []).append(form)
    return lexicon
